import type { ActionManifest } from '@belay/protocol';

/** An action’s input: an object with the action’s own schema or, as in RunGPT, a list of positionals. */
export function inputSchemaOf({ parameters, skill }: ActionManifest): Record<string, unknown> {
  return skill ? skillInput : (parameters ?? positionals);
}

const skillInput = {
  type: 'object',
  properties: {
    file: {
      type: 'string',
      description: 'One of its files to read. Default: its instructions.',
    },
  },
  additionalProperties: false,
};

const positionals = {
  type: 'object',
  properties: {
    args: {
      type: 'array',
      items: { type: 'string' },
      description: 'Its arguments, in order.',
    },
  },
};
