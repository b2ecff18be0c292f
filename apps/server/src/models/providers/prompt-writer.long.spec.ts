import './prompt-writer.spec.js';
