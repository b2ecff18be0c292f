import './blob-store.spec.js';
