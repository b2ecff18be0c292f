import './processor-time.spec.js';
