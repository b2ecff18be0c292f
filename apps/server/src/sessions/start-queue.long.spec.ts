import './start-queue.spec.js';
