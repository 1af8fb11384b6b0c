echo "Once upon a time" >story.txt
