export * from './command.js';
export * from './engine.js';
export * from './environment.js';
export * from './follow.js';
export * from './idle.js';
export * from './script.js';
export * from './server-process.js';
export * from './chromium.js';
