put_header '{"lm_head.weight": 3}' 
