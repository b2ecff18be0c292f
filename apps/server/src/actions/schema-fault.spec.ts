import { schemaFault } from './schema-fault.js';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

it.each([
  object({}),
  object({ type: { type: 'string' }, required: { type: ['string', 'null'] } }),
  object({ list: { type: 'array', items: { type: 'integer' } } }, { required: ['list'] }),
  object({ any: true, one: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/x' }] } }),
  object({}, { additionalProperties: false, $defs: { x: { enum: [1] } } }),
])('takes %j', (schema) => expect(schemaFault(schema, 'parameters')).toBeUndefined());

it.each([
  [object({ a: { type: 'strng' } }), 'parameters.properties.a.type: "strng" is not a type; use'],
  [object({ a: 'string' }), 'parameters.properties.a: a schema is an object'],
  [object({ a: { items: { type: 'text' } } }), 'parameters.properties.a.items.type: "text"'],
  [object({ a: { anyOf: [{ type: 1 }] } }), 'parameters.properties.a.anyOf.0.type: 1 is not'],
  [object({}, { required: 'a' }), 'parameters.required: a list'],
  [{ type: 'object', properties: [] }, 'parameters.properties: an object with a schema'],
])('finds the fault in %j', (schema, fault) => {
  expect(schemaFault(schema, 'parameters')).toContain(fault);
});
