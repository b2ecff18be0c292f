/** The namespace of tools that have none of their own. */
const usual = 'functions';

/** The name of a tool in OpenAI’s Responses: two namespaces may have tools of the same name. */
export const nameIn = (namespace: string, name: string): string =>
  namespace === '' || namespace === usual ? name : `${namespace}__${name}`;
