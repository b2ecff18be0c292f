import type { z } from 'zod';
import { requestNames, responseNames } from './component-names.js';
import { reference, schemaOf, type Direction, type PublishedSchema } from './published-schema.js';

const names = { request: requestNames, response: responseNames };

/** The schemas that a document defines once, by name: those of `component-names.ts`, and each request and response. */
export class Components {
  readonly #schemas = new Map<string, PublishedSchema>();

  /** Sorted, so that a document changes only where its routes do. */
  get schemas(): Record<string, PublishedSchema> {
    const sorted = [...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted);
  }

  /** The schema of what a caller sends. An object gets this name, if it has none of its own. */
  request(schema: z.ZodType, name: string | undefined): PublishedSchema {
    return this.#schemaOf(schema, 'request', name);
  }

  /** The schema of what a caller gets. An object, or the objects in a list, get this name. */
  response(schema: z.ZodType, name: string | undefined): PublishedSchema {
    return this.#schemaOf(schema, 'response', name);
  }

  #schemaOf(
    schema: z.core.$ZodType,
    direction: Direction,
    name: string | undefined,
  ): PublishedSchema {
    const own = names[direction].get(schema);
    if (own !== undefined) return this.#named(own, schema, direction);
    const definition = schemaOf(schema, direction, (inner) => this.#nameOf(inner, direction));
    if (name === undefined) return definition;
    if (isObject(definition)) return this.#defined(name, definition);
    const items = definition['items'] as PublishedSchema | undefined;
    if (definition['type'] !== 'array' || !items || !isObject(items)) return definition;
    return { ...definition, items: this.#defined(`${name}Item`, items) };
  }

  /** The name of a schema within another one; defines it. */
  #nameOf(inner: z.core.$ZodType, direction: Direction): string | undefined {
    const name = names[direction].get(inner);
    if (name !== undefined) this.#named(name, inner, direction);
    return name;
  }

  #named(name: string, schema: z.core.$ZodType, direction: Direction): PublishedSchema {
    if (this.#schemas.has(name)) return reference(name);
    // Reserved first: a schema may contain others.
    this.#schemas.set(name, {});
    return this.#defined(
      name,
      schemaOf(schema, direction, (inner) => this.#nameOf(inner, direction)),
    );
  }

  #defined(name: string, definition: PublishedSchema): PublishedSchema {
    const known = this.#schemas.get(name);
    if (known && Object.keys(known).length > 0)
      throw new Error(`Two schemas of the API have the name ${name}.`);
    this.#schemas.set(name, definition);
    return reference(name);
  }
}

const isObject = ({ type, properties }: PublishedSchema): boolean =>
  type === 'object' && properties !== undefined;
