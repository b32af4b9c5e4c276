// The parts of Apache ECharts that the charts use; the bundle has no others.

import { CustomChart, LineChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendPlainComponent, TooltipComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

echarts.use([
  AriaComponent, CustomChart, GridComponent, LegendPlainComponent, LineChart, SVGRenderer,
  TooltipComponent,
]);

export { echarts };
