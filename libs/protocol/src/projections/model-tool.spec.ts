import { operations } from '../operations/index.js';
import { modelTool } from './model-tool.js';

it('says of inputs nothing that holds of every value in JSON', () => {
  const tools = JSON.stringify(Object.values(operations).map(modelTool));
  expect(tools).not.toMatch(/9007199254740991|propertyNames/);
  // The control: what limits a value is said.
  expect(tools).toContain('"maximum":3600');
});
