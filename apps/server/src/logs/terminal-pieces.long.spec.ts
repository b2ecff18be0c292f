import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./terminal-pieces.spec.js'));
