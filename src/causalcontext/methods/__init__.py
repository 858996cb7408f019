"""The methods: which rows answer a question, and how what was found becomes graphs."""
