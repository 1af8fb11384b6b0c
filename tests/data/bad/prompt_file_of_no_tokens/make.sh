: >story.txt
