/**
 * How swc compiles TypeScript here: with the decorator metadata that Nest injects by.
 * @type {import('@swc/core').JscConfig}
 */
module.exports.jsc = {
  target: 'es2024',
  parser: { syntax: 'typescript', tsx: true, decorators: true },
  transform: {
    legacyDecorator: true,
    decoratorMetadata: true,
    react: { runtime: 'automatic' },
  },
};
