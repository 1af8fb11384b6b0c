mkfifo story.txt
