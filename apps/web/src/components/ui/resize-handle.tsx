import { Separator } from 'react-resizable-panels';

interface ResizeHandleProps {
  label: string;
  /** The orientation of the group. */
  orientation: 'horizontal' | 'vertical';
}

/** The border between two panels of a group, which resizes them. */
export const ResizeHandle = ({ label, orientation }: ResizeHandleProps) => (
  <Separator
    aria-label={label}
    className={`bg-line outline-none hover:bg-line-strong focus-visible:bg-amber data-[separator=active]:bg-amber ${orientation === 'horizontal' ? 'w-px' : 'h-px'}`}
  />
);
