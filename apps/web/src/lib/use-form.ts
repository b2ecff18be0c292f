import { useState } from 'react';

/** The values of a form; `bind` returns the props that connect a field to one of them. */
export interface FormState<V> {
  values: V;
  change(part: Partial<V>): void;
  bind<K extends keyof V>(name: K): { value: V[K]; onChange(value: V[K]): void };
}

export function useForm<V extends object>(initial: V | (() => V)): FormState<V> {
  const [values, setValues] = useState(initial);
  return formState(values, (part) => setValues((now) => ({ ...now, ...part })));
}

/** For values that are stored elsewhere. */
export const formState = <V>(values: V, change: (part: Partial<V>) => void): FormState<V> => ({
  values,
  change,
  bind: (name) => ({
    value: values[name],
    onChange: (value) => change({ [name]: value } as unknown as Partial<V>),
  }),
});
