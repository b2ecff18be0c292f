export * from './agents/agent.js';
export * from './agents/baselines.js';
export * from './engine/engine.js';
export * from './engine/images.js';
export * from './model.js';
export * from './run.js';
export * from './statistics.js';
export * from './suites/index.js';
