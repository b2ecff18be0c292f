import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./verify-statement.spec.js'));
