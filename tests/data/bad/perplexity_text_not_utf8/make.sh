printf 'Once\377 upon' >story.txt
