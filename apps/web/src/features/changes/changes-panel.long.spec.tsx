import './changes-panel.spec';
