interface SwitchProps {
  label: string;
  on: boolean;
  disabled?: boolean;
  onChange(on: boolean): void;
}

/** A switch whose change takes effect at once. */
export function Switch({ label, on, disabled, onChange }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!on)}
      className={`h-5 w-9 shrink-0 rounded-full border p-0.5 transition-colors duration-100 disabled:opacity-50 ${on ? 'border-solid bg-solid' : 'border-line-strong bg-hover'}`}
    >
      <span
        className={`block size-3.5 rounded-full transition-transform duration-100 ${on ? 'translate-x-4 bg-on-solid' : 'bg-muted'}`}
      />
    </button>
  );
}
