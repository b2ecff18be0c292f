import './settings.store.spec.js';
