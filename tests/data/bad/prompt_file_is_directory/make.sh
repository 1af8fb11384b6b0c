mkdir story.txt
