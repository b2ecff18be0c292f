import type {
  ComponentProps,
  ReactNode,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'react';
import { clsx } from 'clsx';

const inputLook = 'rounded-md border border-line-strong bg-panel px-2 text-sm disabled:opacity-50';

/** Makes an input fill its container unless the given classes set its size. */
const sized = (given = ''): string =>
  clsx(unlessSet('w-', 'w-full', given), unlessSet('h-', 'h-8', given), given);

const unlessSet = (prefix: string, usual: string, given = ''): string | false =>
  !given.split(/\s/).some((one) => one.startsWith(prefix)) && usual;

interface Labelled {
  label: string;
  hint?: ReactNode;
}

/** A label above a field, with an optional hint below. */
export function Field({
  label,
  hint,
  children,
  className,
}: Labelled & { children: ReactNode; className?: string }) {
  return (
    <label className={clsx('block min-w-0', className)}>
      <span className="mb-1 block text-sm font-medium">{label}</span>
      {children}
      {hint && <span className="mt-1 block text-xs text-faint">{hint}</span>}
    </label>
  );
}

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={clsx(inputLook, sized(className))} {...rest} />;
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={clsx(inputLook, sized(className))} {...rest} />;
}

/** A text area that grows with its text. */
export function TextArea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <textarea
      className={clsx(
        'field-sizing-content block min-h-16 w-full rounded-md border border-line-strong bg-panel px-2 py-1.5 text-sm',
        unlessSet('max-h-', 'max-h-[40vh]', className),
        className,
      )}
      {...rest}
    />
  );
}

/** The props that a form’s `bind` returns for a field. */
interface Bound<T> {
  value: T;
  onChange(value: T): void;
}

interface TextFieldProps
  extends Labelled, Bound<string>, Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'ref'> {
  /** Returns why the value is invalid, for conditions that input attributes cannot express. */
  check?(value: string): string | undefined;
}

export function TextField({ label, hint, check, onChange, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      <Input
        ref={(element) => element?.setCustomValidity(check?.(input.value) ?? '')}
        onChange={({ target }) => onChange(target.value)}
        {...input}
      />
    </Field>
  );
}

export interface Option<T extends string> {
  value: T;
  label: string;
}

export const optionsOf = <T extends string>(labels: Readonly<Record<T, string>>): Option<T>[] =>
  Object.entries<string>(labels).map(([value, label]) => ({ value: value as T, label }));

interface SelectFieldProps<T extends string> extends Labelled, Bound<T> {
  options: readonly Option<T>[];
  disabled?: boolean;
  autoFocus?: boolean;
}

export function SelectField<T extends string>({
  label,
  hint,
  options,
  onChange,
  ...select
}: SelectFieldProps<T>) {
  return (
    <Field label={label} hint={hint}>
      <Select onChange={({ target }) => onChange(target.value as T)} {...select}>
        <Options of={options} />
      </Select>
    </Field>
  );
}

export const Options = ({ of }: { of: readonly Option<string>[] }) =>
  of.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));

interface CheckFieldProps extends Bound<boolean> {
  className?: string;
  title?: string;
  children: ReactNode;
}

export function CheckField({ value, onChange, className, title, children }: CheckFieldProps) {
  return (
    <label className={clsx('flex items-start gap-2 text-sm', className)} title={title}>
      <input
        type="checkbox"
        checked={value}
        onChange={({ target }) => onChange(target.checked)}
        className="mt-1 shrink-0 accent-solid"
      />
      {children}
    </label>
  );
}
