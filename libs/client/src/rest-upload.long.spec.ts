import './rest-upload.spec.js';
