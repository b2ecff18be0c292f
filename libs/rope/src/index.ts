export * from './rope.js';
