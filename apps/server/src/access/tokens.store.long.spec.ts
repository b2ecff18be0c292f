import './tokens.store.spec.js';
