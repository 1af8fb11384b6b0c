edit model/config.json 's/"llama"/"llama\\u0000x"/' 
