import './approval-entry.spec';
