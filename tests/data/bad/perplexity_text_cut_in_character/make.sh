printf 'Once \342\202' >story.txt
