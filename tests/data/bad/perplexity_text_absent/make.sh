: # there is no story.txt
