import './new-session-page.spec';
