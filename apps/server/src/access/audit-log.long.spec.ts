import './audit-log.spec.js';
