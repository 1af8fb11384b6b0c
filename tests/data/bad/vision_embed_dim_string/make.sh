start_from ../vision/qwen2_vl_two_images
edit model/config.json 's/"embed_dim": 8/"embed_dim": "8"/'
