printf "a!a!" >story.txt
edit model/tokenizer.json 's/"a": *[0-9]*/"a": 100000/'
