const { configure } = require('@testing-library/react');

// What usually appears within a second may take much longer while other tests use the CPU.
configure({ asyncUtilTimeout: 45_000 });
