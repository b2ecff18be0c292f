import './repository-fetcher.spec.js';
