export * from './client.js';
export * from './live.js';
export * from './rest.js';
export * from './tar-header.js';
