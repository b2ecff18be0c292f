import './transcripts.spec.js';
