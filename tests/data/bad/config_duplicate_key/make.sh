edit model/config.json 's/^  "hidden_size": 64,/&"hidden_size": 32,/' 
