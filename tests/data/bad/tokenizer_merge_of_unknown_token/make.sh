edit model/tokenizer.json '/^"merges": \[/{n;s/"[^"]*"/"Qq Zz"/;}' 
