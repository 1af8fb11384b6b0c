edit model/generation_config.json 's/^    581,$/    "581",/' 
