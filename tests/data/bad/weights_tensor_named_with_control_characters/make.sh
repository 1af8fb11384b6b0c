header 's/lm_head/\\u001b[31mlm_head\\n/;s/F32/F99/' 
