printf a >story.txt
