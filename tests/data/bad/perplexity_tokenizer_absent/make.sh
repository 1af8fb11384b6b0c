echo "Once upon a time" >story.txt
rm model/tokenizer.json
