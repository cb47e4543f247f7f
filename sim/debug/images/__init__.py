"""The images that programs read and write, as a person looks at them: elements, colours."""
