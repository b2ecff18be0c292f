import './providers.spec.js';
