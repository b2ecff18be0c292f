import './migrations.spec.js';
