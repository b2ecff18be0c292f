import './long.spec.js';
