import './publishing.spec.js';
