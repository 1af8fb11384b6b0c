start_from ../vision/qwen2_vl_two_images
edit model/config.json 's/"mrope_section": \[/"mrope_section": "x", "other": [/'
