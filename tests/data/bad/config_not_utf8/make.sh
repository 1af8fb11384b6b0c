edit model/config.json 's/"llama"/"lla\xffma"/' 
